declare module "node-webpmux" {
  interface Frame {
    readonly delay: number;
  }
  const webp: {
    Image: {
      generateFrame(of: { buffer: Buffer; delay: number; blend: boolean }): Promise<Frame>;
      save(
        path: null,
        options: { frames: readonly Frame[]; loops: number; width: number; height: number },
      ): Promise<Buffer>;
    };
  };
  export default webp;
}

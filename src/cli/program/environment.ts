/** Returns the environment variables for a command, including those of the file `.env`. Called only when a command runs. */
export type Environment = () => Promise<NodeJS.ProcessEnv>;

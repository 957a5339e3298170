declare module "sns-validator" {
  export default class MessageValidator {
    constructor(hostPattern?: RegExp);
    validate(message: object, callback: (error: Error | null) => void): void;
  }
}

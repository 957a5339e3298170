/** The variables that a command goes by, those of the file `.env` among them; read when a command is carried out. */
export type Environment = () => Promise<NodeJS.ProcessEnv>;

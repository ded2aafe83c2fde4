/** The command line. */
export { processIo } from './command-io.ts'
export { leave, runCommand } from './run-command.ts'

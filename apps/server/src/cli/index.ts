/** The command line. */
export { terminalIo } from './command-io.ts'
export { leave, runCommand } from './run-command.ts'

/** The command line of the `tutti` program. */
export { terminalIo } from '../terminal/command-io.ts'
export { setExitCode, runCommand } from './run-command.ts'

/** The command line of `create-tutti`. */
import { Command, Option } from 'commander'

import { PACKAGE_MANAGERS, type PackageManager } from './package-manager.ts'

import type { CreateIo } from './create-io.ts'

/** Options of the command line. The program asks for missing ones, or uses their defaults. */
export interface ProjectOptions {
  /** Folder of the project, relative to the working directory. */
  readonly folder?: string
  /** Name in package.json. */
  readonly name?: string
  readonly packageManager?: PackageManager
  /** Whether to use the defaults without asking. */
  readonly yes: boolean
  readonly install: boolean
  readonly git: boolean
  /** Whether to write into a folder that is not empty. */
  readonly force: boolean
}

const EXAMPLES = `
Examples:
  npm create tutti                                 asks for missing options
  npm create tutti my-app                          the same, with a folder
  npm create tutti my-app -- --yes --no-install    asks no questions; npm passes on what follows "--"

It asks questions only on a terminal. Exit codes: 0 success, 1 failure, 2 invalid arguments, 130 interrupted.`

/**
 * Parses the command line.
 *
 * @throws {CommanderError} when it is invalid, or requests the help or the version.
 */
export function readArguments(
  args: readonly string[],
  { io, version }: { readonly io: CreateIo; readonly version: string },
): ProjectOptions {
  const program = new Command('create-tutti')
    .description(
      'Creates a Tutti project: an ensemble with tools and tests that runs without a key',
    )
    .argument('[folder]', 'folder of the project; "." is the working directory')
    .option('-y, --yes', 'use the defaults without asking')
    .option('--name <name>', 'name of the project (default: that of the folder)')
    .addOption(
      new Option(
        '--package-manager <name>',
        'package manager that installs the project (default: the one that runs this command)',
      ).choices(PACKAGE_MANAGERS),
    )
    .option('--no-install', 'do not install dependencies')
    .option('--no-git', 'do not create a git repository')
    .option('--force', 'write into a folder that is not empty, and overwrite files')
    .version(version, '-v, --version', 'display the version')
    .helpOption('-h, --help', 'display this help')
    .addHelpText('after', EXAMPLES)
    .showHelpAfterError('For help: create-tutti --help')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => io.stdout.write(text),
      writeErr: (text) => io.stderr.write(text),
    })
    .parse(args, { from: 'user' })
  const [folder] = program.args
  const given = program.opts<ParsedOptions>()
  return {
    ...given,
    yes: given.yes === true,
    force: given.force === true,
    ...(folder === undefined ? {} : { folder }),
  }
}

/** Options as commander returns them: those with `--no-` are true by default. */
interface ParsedOptions extends Pick<
  ProjectOptions,
  'name' | 'packageManager' | 'install' | 'git'
> {
  readonly yes?: boolean
  readonly force?: boolean
}

/** The command line of `create-tutti`. */
import { Command, Option } from 'commander'

import { PACKAGE_MANAGERS, type PackageManager } from './package-manager.ts'

import type { CreateIo } from './create-io.ts'

/** What the command line says; what it leaves out is asked for, or has a default. */
export interface ProjectOptions {
  /** Where the project goes, from the working directory on. */
  readonly folder?: string
  /** Name in its package.json. */
  readonly name?: string
  readonly packageManager?: PackageManager
  /** Take the defaults and ask nothing. */
  readonly yes: boolean
  readonly install: boolean
  readonly git: boolean
  /** Write into a folder that is not empty. */
  readonly force: boolean
}

const EXAMPLES = `
Examples:
  npm create tutti                                 asks for what it needs
  npm create tutti my-desk                         the same, but for the folder
  npm create tutti my-desk -- --yes --no-install   asks nothing; npm hands on what stands after "--"

It asks only on a terminal. Exit codes: 0 done, 1 failed, 2 wrong arguments, 130 stopped.`

/**
 * Reads the command line.
 *
 * @throws {CommanderError} when it does not fit, or asked for the help or the version.
 */
export function readArguments(
  words: readonly string[],
  { io, version }: { readonly io: CreateIo; readonly version: string },
): ProjectOptions {
  const program = new Command('create-tutti')
    .description(
      'Creates a Tutti project: an ensemble with tools and tests that runs without a key',
    )
    .argument('[folder]', 'where the project goes; "." is the working directory')
    .option('-y, --yes', 'ask nothing and take the defaults')
    .option('--name <name>', 'name of the project (that of the folder)')
    .addOption(
      new Option(
        '--package-manager <name>',
        'who installs, and whom the texts name (whoever started this)',
      ).choices(PACKAGE_MANAGERS),
    )
    .option('--no-install', 'install no dependencies')
    .option('--no-git', 'make no git repository')
    .option('--force', 'write into a folder that is not empty, over files of the same names')
    .version(version, '-v, --version', 'show the version')
    .helpOption('-h, --help', 'show this')
    .addHelpText('after', EXAMPLES)
    .showHelpAfterError('Help: create-tutti --help')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => io.stdout.write(text),
      writeErr: (text) => io.stderr.write(text),
    })
    .parse(words, { from: 'user' })
  const [folder] = program.args
  const given = program.opts<Given>()
  return {
    ...given,
    yes: given.yes === true,
    force: given.force === true,
    ...(folder === undefined ? {} : { folder }),
  }
}

/** As commander gives it: what is said with `--no-` is true until it is said. */
interface Given extends Pick<ProjectOptions, 'name' | 'packageManager' | 'install' | 'git'> {
  readonly yes?: boolean
  readonly force?: boolean
}

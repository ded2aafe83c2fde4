/** Commands that list something and also have subcommands. */
import { unknownName } from '@tutti/protocol/internal'

import { CommandError } from './command-error.ts'

import type { Command } from 'commander'

/**
 * Reports an argument of `command`, which takes none, as an unknown subcommand; commander would only count the
 * arguments. Call it after the subcommands are added, because they inherit settings.
 */
export function rejectUnknownSubcommands(command: Command): void {
  command.allowExcessArguments().hook('preAction', (parent, acting) => {
    const [name] = acting === parent ? parent.args : []
    if (name === undefined) return
    const known = parent.commands.map((subcommand) => subcommand.name())
    throw new CommandError('USAGE', unknownName('subcommand', name, known), [
      `For help: tutti ${parent.name()} --help`,
    ])
  })
}

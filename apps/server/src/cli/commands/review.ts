/** `tutti review`: decides the open reviews, or lists them. */
import { Option, type Command } from 'commander'

import { ReviewKind } from '@tutti/protocol/internal'

import { withTarget, type TargetOptions } from '../target.ts'

import type { CommandContext } from '../command-context.ts'
import type { ReviewCommandSettings } from '../review/review.ts'

/** Options that decide a review; they exclude one another. */
const DECISIONS = ['approve', 'answer', 'edit', 'reject', 'exit'] as const

const MORE = `
Without a decision, the command asks on the terminal: for the review with the id, or for all open ones in turn. Without a
terminal and without an id, it lists them. --answer takes the answer to a question as it is; for a question with a schema, it
is the JSON value. --edit takes a file, or - for standard input, also with a long answer. Instead of the id of
a review you can give the id of a run that has exactly one open review.`

/** Adds the options of `tutti review`. */
export function addReviewOptions(command: Command, context: CommandContext): void {
  command
    .argument('[id]', 'id of the review to decide')
    .option('-r, --run <id>', 'only the reviews of this run')
    .addOption(decision('approve', 'approve it unchanged'))
    .addOption(decision('answer', 'answer the question with this text', ' <text>'))
    .addOption(decision('edit', 'replace the reviewed text with this file and continue', ' <file>'))
    .addOption(decision('reject', 'reject it with this feedback', ' <feedback>'))
    .addOption(decision('exit', 'end the run early; finished outputs are preserved'))
    .addOption(
      new Option('--kind <kind>', 'only reviews of this kind').choices([...ReviewKind.enum]),
    )
    .addOption(
      new Option('-l, --list', 'list the open reviews, on a terminal too').conflicts([
        ...DECISIONS,
      ]),
    )
    .option('--json', 'print the API response as one JSON document')
    .addHelpText('after', MORE)
  withTarget(command).action(
    async (id: string | undefined, options: TargetOptions & ReviewCommandSettings) => {
      const { reviewCommand } = await import('../review/review.ts')
      await reviewCommand(id, options, context)
    },
  )
}

function decision(name: (typeof DECISIONS)[number], description: string, value = ''): Option {
  const others = DECISIONS.filter((other) => other !== name)
  return new Option(`--${name}${value}`, description).conflicts(others)
}

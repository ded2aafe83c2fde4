/** `tutti review`: the reviews that wait, and deciding one. */
import { Option, type Command } from 'commander'

import { withTarget, type TargetOptions } from '../target.ts'

import type { CommandContext } from '../command-context.ts'
import type { ReviewCommandSettings } from '../review/review.ts'

/** The ways to decide; one at a time. */
const DECISIONS = ['approve', 'edit', 'reject', 'exit'] as const

const MORE = `
Without a decision it asks, on a terminal. What --edit puts in the place of the output is a file, or - for standard
input. In place of the id of a review, that of a run with one review that waits will do.`

/** Adds `tutti review`. */
export function addReviewCommand(program: Command, context: CommandContext): void {
  const command = program
    .command('review')
    .description('list the reviews that wait, or decide one')
    .argument('[id]', 'the review to decide')
    .option('-r, --run <id>', 'list those of this run only')
    .addOption(decision('approve', 'go on with it as it is'))
    .addOption(decision('edit', 'go on with this in its place', ' <file>'))
    .addOption(decision('reject', 'send it back with these words', ' <words>'))
    .addOption(decision('exit', 'end the run here; what it has stays'))
    .option('--json', 'what the API says, as one JSON document')
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

/** `tutti events`: the events of a run. */
import { RUN_EVENT_TYPES, suggest, type RunEvent } from '@tutti/protocol'
import { InvalidArgumentError, Option, type Command } from 'commander'

import { placeOf } from '../option-values.ts'
import { withTarget, type TargetOptions } from '../target.ts'

import type { CommandContext } from '../command-context.ts'
import type { EventsSettings } from '../runs/show-events.ts'

/** Adds the command. */
export function addEventsCommand(program: Command, context: CommandContext): void {
  const command = program
    .command('events')
    .description('write the events of a run, as they are in its log')
    .argument('<id>', 'the run')
    .option('-f, --follow', 'go on with the events to come, until the run ends')
    .option('--from <seq>', 'first event; negative counts from the end', placeOf)
    .addOption(
      new Option('-t, --type <types>', 'only these, such as task_started,task_completed').argParser(
        eventTypesOf,
      ),
    )
    .option('--json', 'whole events, one JSON document a line')
  withTarget(command).action(async (runId: string, options: TargetOptions & EventsSettings) => {
    const { showEvents } = await import('../runs/show-events.ts')
    await showEvents(runId, options, context)
  })
}

/** Types of events, separated by commas. */
function eventTypesOf(text: string): readonly RunEvent['type'][] {
  return text.split(',').map((part) => {
    const name = part.trim()
    const known = RUN_EVENT_TYPES.find((type) => type === name)
    if (known !== undefined) return known
    const near = suggest(name, RUN_EVENT_TYPES)
    const hint = near === undefined ? 'See the reference of events.' : `Did you mean "${near}"?`
    throw new InvalidArgumentError(`"${name}" is not a type of event. ${hint}`)
  })
}

/**
 * The commands that act on runs: a verb for each command of the protocol, and `tutti fork`, `tutti replay`, `tutti migrate` and
 * `tutti delete`.
 */
import {
  CancelMode,
  commandEntry,
  Priority,
  RUN_COMMAND_KINDS,
  type RunCommandKind,
} from '@tutti/protocol/internal'
import { Option, type Command } from 'commander'

import { gather } from '../option-values.ts'
import { addReviewOptions } from './review.ts'
import { withTarget, type TargetOptions } from '../target.ts'

import type { CancelSettings, DeleteSettings } from '../runs/end-runs.ts'
import type { CommandContext } from '../command-context.ts'
import type { ForkSettings } from '../runs/fork-run.ts'
import type { MigrateSettings } from '../runs/migrate-run.ts'
import type { ReplaySettings } from '../runs/replay-run.ts'
import type { InjectSettings, ModelSettings } from '../runs/steer-run.ts'

/** Commands whose arguments or output are not those of {@link addPlainOptions}. */
const SPECIAL: Readonly<
  Partial<Record<RunCommandKind, (command: Command, context: CommandContext) => void>>
> = {
  inject: addInjectOptions,
  switch_model: addModelOptions,
  cancel: addCancelOptions,
  decide: addReviewOptions,
}

/** Adds a verb for each command of the protocol's table. */
export function addCommandVerbs(program: Command, context: CommandContext): void {
  for (const kind of RUN_COMMAND_KINDS) {
    const { verb, description } = commandEntry(kind).cli
    const command = program.command(verb).description(description)
    const addOptions = SPECIAL[kind]
    if (addOptions === undefined) addPlainOptions(kind, command, context)
    else addOptions(command, context)
  }
}

/** Adds the id of the target, and an option for each field of the body. */
function addPlainOptions(kind: RunCommandKind, command: Command, context: CommandContext): void {
  const { route, target } = commandEntry(kind)
  command.argument('<id>', `id of the ${target === 'runId' ? 'run' : 'review'}`)
  for (const [name, schema] of Object.entries(route.body.properties)) {
    const dashed = name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
    const option = new Option(`--${dashed} <${name}>`, `${name} of the command`)
    command.addOption('enum' in schema ? option.choices(Object.values(schema.enum)) : option)
  }
  command.option('--json', 'print the API response as one JSON document')
  withTarget(command).action(
    async (id: string, options: TargetOptions & Readonly<Record<string, unknown>>) => {
      const { sendPlainCommand } = await import('../runs/send-command.ts')
      await sendPlainCommand({ kind, target: id }, options, context)
    },
  )
}

/** Adds the options of `tutti inject`. */
function addInjectOptions(command: Command, context: CommandContext): void {
  command
    .argument('<id>', 'id of the run')
    .argument('<text>', 'the guidance: text, @file, or - for standard input')
    .option('--to <name>', 'only the task of this name, or the agents with this role')
    .addOption(
      new Option('--priority <priority>', 'priority of the guidance').choices(Priority.enum),
    )
    .option(
      '--ttl <duration>',
      'how long it stays in force, such as PT10M (default: until the run ends)',
    )
    .option('--json', 'print the API response as one JSON document')
  withTarget(command).action(
    async (runId: string, text: string, options: TargetOptions & InjectSettings) => {
      const { inject } = await import('../runs/steer-run.ts')
      await inject({ runId, text }, options, context)
    },
  )
}

const MODEL_HELP = `
The switch applies from the next model call on; a call in flight keeps its model. The tier "primary" is the model of each
task, and "fallback" the first of its fallback models. Other tiers are defined by modelTiers in the config.`

/** Adds the options of `tutti model`. */
function addModelOptions(command: Command, context: CommandContext): void {
  command
    .argument('<id>', 'id of the run')
    .argument('[alias]', 'alias of the model')
    .addOption(new Option('--tier <name>', 'tier of models to switch to').conflicts('profile'))
    .option('--profile <name>', 'profile whose tier to switch to')
    .option('--task <name>', 'switch only this task')
    .option('--json', 'print the API response as one JSON document')
    .addHelpText('after', MODEL_HELP)
  withTarget(command).action(
    async (runId: string, alias: string | undefined, options: TargetOptions & ModelSettings) => {
      const { switchModel } = await import('../runs/steer-run.ts')
      await switchModel({ runId, alias }, options, context)
    },
  )
}

/** Adds `tutti fork`. */
export function addForkCommand(program: Command, context: CommandContext): void {
  const command = program
    .command('fork')
    .description('start a run that begins with the events and results of another one')
    .argument('<id>', 'id of the run')
    .option('--at <place>', 'seq of the last event to copy, or name of the first task to repeat')
    .option('-i, --input <key=value>', 'an input that differs from the run', gather)
    .option('--result <task=output>', 'the output of a task: text, or @file', gather)
    .option('--directive <text>', 'guidance for the agents of the fork: text, or @file', gather)
    .option('--preview', 'only show what the fork would do, and what it would cost')
    .option('--allow-side-effects', 'call tools that are not idempotent again')
    .option('--json', 'print the API response as one JSON document')
  withTarget(command).action(async (runId: string, options: TargetOptions & ForkSettings) => {
    const { fork } = await import('../runs/fork-run.ts')
    await fork(runId, options, context)
  })
}

/** Adds `tutti replay`. */
export function addReplayCommand(program: Command, context: CommandContext): void {
  const command = program
    .command('replay')
    .description('execute a completed run again with its recorded results, and wait for the end')
    .argument('<id>', 'id of the run')
    .option('--mode <mode>', 'frozen makes no call; models calls only models', 'frozen')
    .option('--json', 'print the API response as one JSON document')
  withTarget(command).action(async (runId: string, options: TargetOptions & ReplaySettings) => {
    const { replay } = await import('../runs/replay-run.ts')
    await replay(runId, options, context)
  })
}

/** Adds `tutti migrate`. */
export function addMigrateCommand(program: Command, context: CommandContext): void {
  const command = program
    .command('migrate')
    .description('move a run that waits for a build to another one, after showing the differences')
    .argument('<id>', 'id of the run')
    .option('--to <build>', 'build whose code continues the run')
    .option('--preview', 'only show the differences')
    .option('--json', 'print the API response as one JSON document')
  withTarget(command).action(async (runId: string, options: TargetOptions & MigrateSettings) => {
    const { migrate } = await import('../runs/migrate-run.ts')
    await migrate(runId, options, context)
  })
}

/** Adds the options of `tutti cancel`. */
function addCancelOptions(command: Command, context: CommandContext): void {
  command
    .argument('[ids...]', 'ids of the runs')
    .option('-t, --tag <tag>', 'cancel every unfinished run with this tag: key, or key:value')
    .addOption(
      new Option(
        '-m, --mode <mode>',
        'abort calls in flight, or stop at the next task boundary',
      ).choices(CancelMode.enum),
    )
    .option('-w, --wait', 'wait until all work has stopped')
    .option('--json', 'print the result for each run as one JSON document')
  withTarget(command).action(
    async (runIds: readonly string[], options: TargetOptions & CancelSettings) => {
      const { cancelNamedRuns } = await import('../runs/end-runs.ts')
      await cancelNamedRuns(runIds, options, context)
    },
  )
}

/** Adds `tutti delete`. */
export function addDeleteCommand(program: Command, context: CommandContext): void {
  const command = program
    .command('delete')
    .description('delete runs with their events and outputs; active runs are cancelled first')
    .argument('<ids...>', 'ids of the runs')
    .option('--json', 'print the result for each run as one JSON document')
  withTarget(command).action(
    async (runIds: readonly string[], options: TargetOptions & DeleteSettings) => {
      const { deleteRuns } = await import('../runs/end-runs.ts')
      await deleteRuns(runIds, options, context)
    },
  )
}

/** The human_input tool. */
import { assertKnownOptions, defineTextTool, TOOL_SETTING_NAMES, ToolResult } from '@tutti/core'

import type {
  ApprovalTimeoutAction,
  OptionNames,
  ToolContext,
  ToolSettings,
  TypedTool,
} from '@tutti/core'

/** Settings of the human_input tool. */
export interface HumanInputOptions extends Omit<Partial<ToolSettings<string>>, 'requireApproval'> {
  /**
   * Time limit for the answer, in milliseconds; Infinity waits for ever.
   * @default the time of the run's reviews, 300000 where nothing is set
   */
  readonly answerTimeoutMs?: number
  /**
   * What silence means: the model goes on without an answer, the run ends early, or the call fails.
   * @default CONTINUE
   */
  readonly onTimeout?: ApprovalTimeoutAction
}

const { requireApproval: _, ...SETTING_NAMES } = TOOL_SETTING_NAMES

const OPTION_NAMES = {
  ...SETTING_NAMES,
  answerTimeoutMs: true,
  onTimeout: true,
} as const satisfies OptionNames<HumanInputOptions>

const DEFAULTS = {
  name: 'human_input',
  description:
    'Asks the person who supervises this work a question, and waits for the answer. Ask one clear ' +
    'question, with all that it takes to answer it.',
} as const satisfies ToolSettings<string>

/**
 * A text tool that asks a person. The person's text is the result; who agrees without a text, or says
 * nothing in time, is reported as that. The time limit of the tool stands still meanwhile.
 *
 * @throws {TypeError} naming every setting that does not fit.
 * @throws {RangeError} for an `answerTimeoutMs` that is no positive number.
 */
export function humanInput(options: HumanInputOptions = {}): TypedTool<string> {
  assertKnownOptions('Cannot define tool "human_input":', options, OPTION_NAMES)
  const { answerTimeoutMs, onTimeout = 'CONTINUE', ...settings } = options
  if (answerTimeoutMs !== undefined && !(answerTimeoutMs > 0)) {
    throw new RangeError(
      `Cannot define tool "human_input": answerTimeoutMs must be > 0, got ${answerTimeoutMs}`,
    )
  }
  return defineTextTool({
    ...DEFAULTS,
    ...settings,
    execute: (question, context) => ask(question, context, { answerTimeoutMs, onTimeout }),
  })
}

interface AskOptions {
  readonly answerTimeoutMs: number | undefined
  readonly onTimeout: ApprovalTimeoutAction
}

async function ask(
  question: string,
  { hasReviewer, requestApproval }: ToolContext<string>,
  { answerTimeoutMs, onTimeout }: AskOptions,
): Promise<ToolResult> {
  if (question.trim() === '') return ToolResult.failure('Question must not be blank')
  if (!hasReviewer) return ToolResult.failure(NOBODY)
  const decision = await requestApproval(question, {
    onTimeout,
    ...(answerTimeoutMs === undefined ? {} : { timeoutMs: answerTimeoutMs }),
  })
  if (decision.action === 'CONTINUE') {
    return ToolResult.success(decision.timedOut ? unanswered(answerTimeoutMs) : SEEN)
  }
  return ToolResult.success(decision.input.trim() === '' ? SEEN : decision.input)
}

const NOBODY =
  'No person can be asked in this run. Go on with what you have, and say what you had to assume'

const SEEN =
  'The person has read the question and lets you go on, without an answer in words. Decide for yourself.'

function unanswered(timeoutMs: number | undefined): string {
  const time = timeoutMs === undefined ? 'in time' : `within ${timeoutMs / 1000} seconds`
  return `Nobody answered ${time}. Decide for yourself, and say what you had to assume.`
}

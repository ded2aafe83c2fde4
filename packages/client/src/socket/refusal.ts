/** Pure: the error that a refusal over a socket means. */
import { isErrorCode, type Problem } from '@tutti/protocol'

import { TuttiClientError, type ClientErrorCode } from '../errors.ts'

/** What a refusal says; AgentEnsemble's acknowledgements have no code. */
export interface RefusalText {
  readonly error?: ClientErrorCode | undefined
  readonly message?: string | undefined
  readonly problems?: readonly Problem[] | undefined
  readonly retryAfterMs?: number | undefined
  readonly requestId?: string | undefined
}

/** The error for `what`, which the server refused. */
export function refusal(
  what: string,
  { error: code = 'REFUSED', message = 'no reason was given', ...rest }: RefusalText,
): TuttiClientError {
  const { problems, retryAfterMs, requestId } = rest
  return new TuttiClientError(code, `The server refused ${what} with ${code}: ${message}`, {
    problems,
    retryAfterMs,
    requestId,
  })
}

/** What a text says that begins with its code, as `TOOL_NOT_FOUND: There is no tool "x"`. */
export function coded(text: string | undefined): RefusalText {
  const [, code = '', message] = /^([A-Z_]+): (.*)$/s.exec(text ?? '') ?? []
  return isErrorCode(code) ? { error: code, message } : { message: text }
}

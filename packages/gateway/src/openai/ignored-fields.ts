/** Pure: parameters that the operator lets models ignore. */
import { sharedEnsembles } from '../service/sharing.ts'

import type { Sharing } from '../gateway-options.ts'

/** Parameters of sampling in OpenAI's APIs. */
const SAMPLING: readonly string[] = [
  'temperature',
  'top_p',
  'presence_penalty',
  'frequency_penalty',
  'seed',
]

/** Limits of output tokens, which only models have. */
const TOKEN_LIMITS: readonly string[] = ['max_tokens', 'max_completion_tokens', 'max_output_tokens']

/**
 * Returns a body without the parameters that its model ignores: those of sampling, and for an ensemble the limits of
 * output tokens. Models that `shared.ignoreSampling` does not name ignore none.
 */
export function omitIgnored<Body extends { readonly model?: unknown }>(
  sharing: Sharing,
  body: Body,
): Body {
  const { model } = body
  if (typeof model !== 'string' || sharing.shared?.ignoreSampling?.includes(model) !== true) {
    return body
  }
  const isEnsemble = sharedEnsembles(sharing).some(({ name }) => name === model)
  const kept = { ...body }
  for (const name of isEnsemble ? [...SAMPLING, ...TOKEN_LIMITS] : SAMPLING) {
    Reflect.deleteProperty(kept, name)
  }
  return kept
}

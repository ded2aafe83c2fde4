/** Pure: what callers choose from, as the bodies and messages of the API name it. */
import type { InjectBody, SwitchModelBody } from '@tutti/protocol'
import type { ActionDirective } from './runs-types.ts'

/** Body of a switch: a model by its alias, or a tier. */
export function modelOrTier(
  model: string | { readonly tier: string },
): Pick<SwitchModelBody, 'model' | 'tier'> {
  return typeof model === 'string' ? { model } : { tier: model.tier }
}

/** Body of a directive: a text, or an action. */
export function textOrAction(
  content: string | ActionDirective,
): Pick<InjectBody, 'content' | 'action' | 'value'> {
  return typeof content === 'string'
    ? { content }
    : { action: content.action, value: content.value }
}

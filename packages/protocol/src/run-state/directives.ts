/** Directives of a run. */
import type { DirectiveActive } from '../schemas/events/steering-events.ts'
import type { RunEventOf } from '../schemas/run-event.ts'
import { findIndexByKey, type ListEditor } from './lists.ts'

/** Directive, as in `directive_active`, with its deliveries. */
export interface DirectiveState extends Readonly<Omit<DirectiveActive, 'type'>> {
  /** Turns whose model call included it, in order. */
  readonly delivered: readonly Delivery[]
}

/** Turn that a directive was delivered to. */
export interface Delivery {
  readonly taskName: string
  readonly attempt: number
  readonly iterationIndex: number
  readonly deliveredAt: string
}

export type DirectiveEvent = RunEventOf<'directive_active' | 'directive_delivered'>

/** Returns the run after an event of a directive; a repeated directive keeps its index and deliveries. */
export function applyToDirectives<State extends { readonly directives: readonly DirectiveState[] }>(
  state: State,
  event: DirectiveEvent,
  lists: ListEditor,
): State {
  const { directives } = state
  const at = findIndexByKey(directives, event.directiveId, ({ directiveId }) => directiveId)
  const known = directives[at]
  if (event.type === 'directive_active') {
    const directive = createDirective(event, known?.delivered ?? [])
    return {
      ...state,
      directives:
        known === undefined
          ? lists.append(directives, directive, directive.directiveId)
          : lists.with(directives, at, directive),
    }
  }
  if (known === undefined) return state
  const delivered = addDelivery(known.delivered, event, lists)
  return { ...state, directives: lists.with(directives, at, { ...known, delivered }) }
}

function createDirective(
  event: RunEventOf<'directive_active'>,
  deliveries: readonly Delivery[],
): DirectiveState {
  const { directiveId, from, content, action, value } = event
  const { expiresAt, to, priority, actor, activeAt } = event
  return {
    directiveId,
    ...(from === undefined ? {} : { from }),
    ...(content === undefined ? {} : { content }),
    ...(action === undefined ? {} : { action }),
    ...(value === undefined ? {} : { value }),
    ...(expiresAt === undefined ? {} : { expiresAt }),
    ...(to === undefined ? {} : { to }),
    ...(priority === undefined ? {} : { priority }),
    ...(actor === undefined ? {} : { actor }),
    activeAt,
    delivered: deliveries,
  }
}

/** Adds a delivery. A turn that begins again gets the directive again: the newer delivery replaces the older one. */
function addDelivery(
  deliveries: readonly Delivery[],
  event: RunEventOf<'directive_delivered'>,
  lists: ListEditor,
): readonly Delivery[] {
  const { taskName, attempt, iterationIndex, deliveredAt } = event
  const delivery = { taskName, attempt, iterationIndex, deliveredAt }
  const key = toDeliveryKey(delivery)
  const at = findIndexByKey(deliveries, key, toDeliveryKey)
  return lists.append(at === -1 ? deliveries : deliveries.toSpliced(at, 1), delivery, key)
}

function toDeliveryKey({ taskName, attempt, iterationIndex }: Delivery): string {
  return `${attempt}.${iterationIndex}.${taskName}`
}

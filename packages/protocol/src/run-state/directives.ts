/** Pure: the directives of a run after one of their events. */
import type { DirectiveActive } from '../schemas/events/steering-events.ts'
import type { RunEventOf } from '../schemas/run-event.ts'

/** A directive, as `directive_active` says it, and where it was delivered. */
export interface DirectiveState extends Readonly<Omit<DirectiveActive, 'type'>> {
  /** The turns whose model call showed it, in order. */
  readonly delivered: readonly Delivery[]
}

/** One turn that was shown a directive. */
export interface Delivery {
  readonly taskName: string
  readonly attempt: number
  readonly iterationIndex: number
  readonly deliveredAt: string
}

/** An event of a directive. */
export type DirectiveEvent = RunEventOf<'directive_active' | 'directive_delivered'>

type Directives = readonly DirectiveState[]

/** The directives after one of their events; one that is told again keeps its place and deliveries. */
export function applyToDirectives(directives: Directives, event: DirectiveEvent): Directives {
  const at = directives.findIndex(({ directiveId }) => directiveId === event.directiveId)
  const known = directives[at]
  if (event.type === 'directive_active') {
    const directive = createDirective(event, known?.delivered ?? [])
    return known === undefined ? [...directives, directive] : directives.with(at, directive)
  }
  if (known === undefined) return directives
  return directives.with(at, { ...known, delivered: addDelivery(known.delivered, event) })
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
    ...(activeAt === undefined ? {} : { activeAt }),
    delivered: deliveries,
  }
}

/** A turn that begins anew is shown the directive again: the newer delivery takes the older's place. */
function addDelivery(
  deliveries: readonly Delivery[],
  event: RunEventOf<'directive_delivered'>,
): readonly Delivery[] {
  const { taskName, attempt, iterationIndex, deliveredAt } = event
  const others = deliveries.filter(
    (other) =>
      other.taskName !== taskName ||
      other.attempt !== attempt ||
      other.iterationIndex !== iterationIndex,
  )
  return [...others, { taskName, attempt, iterationIndex, deliveredAt }]
}

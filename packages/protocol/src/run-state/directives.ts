/** Directives of a run. */
import type { DirectiveActive } from '../schemas/events/steering-events.ts'
import type { RunEventOf } from '../schemas/run-event.ts'

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

type Directives = readonly DirectiveState[]

/** Returns the directives after one of their events; a repeated directive keeps its index and deliveries. */
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
    activeAt,
    delivered: deliveries,
  }
}

/** Adds a delivery. A turn that begins again gets the directive again: the newer delivery replaces the older one. */
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

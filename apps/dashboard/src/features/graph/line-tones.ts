/** Pure: how each line of the graph looks now. */
import type { TaskState } from '@tutti/protocol'
import type { LineTone } from './graph-lines.tsx'
import type { GraphLayout } from './layout.ts'

/** One word for each link: what leads to a task at work is live, to one that waits for a person held. */
export function lineTones(
  { rows, links }: GraphLayout,
  {
    tasks,
    held,
    selected,
  }: {
    readonly tasks: ReadonlyMap<string, TaskState>
    readonly held: ReadonlySet<string>
    readonly selected: string | undefined
  },
): readonly LineTone[] {
  return links.map(({ from, to }) => {
    const target = rows[to]?.name ?? ''
    if (held.has(target)) return 'held'
    if (tasks.get(target)?.status === 'RUNNING') return 'live'
    return selected === target || selected === rows[from]?.name ? 'chosen' : 'quiet'
  })
}

/** The tools that a task of the ensemble gets, and those that it loses, for this run. */
import { listOrNothing, withField, type OverrideDraft } from './draft.ts'
import { PickField } from './pick-field.tsx'
import styles from './submit.module.css'

import type { ToolInfo } from '@tutti/protocol'

/** The fields; `own` are the tools that the task has, `known` those of the server. */
export function OverrideTools({
  path,
  own,
  override: given,
  known,
  set,
}: {
  readonly path: string
  readonly own: readonly string[]
  readonly override: OverrideDraft
  readonly known: readonly ToolInfo[]
  readonly set: (field: 'tools', value: OverrideDraft['tools']) => void
}) {
  const setTools = (part: 'add' | 'remove', values: readonly string[]): void => {
    const tools = withField(given.tools ?? {}, part, listOrNothing(values))
    set('tools', Object.keys(tools).length === 0 ? undefined : tools)
  }
  const tools = known.map((tool) => ({ value: tool.name, label: tool.name }))
  return (
    <div className={styles['pair']}>
      <PickField
        path={`${path}/tools/add`}
        label="Tools to add"
        add="Add a tool"
        values={given.tools?.add ?? []}
        picks={tools.filter(({ value }) => !own.includes(value))}
        onChange={(values) => setTools('add', values)}
      />
      <PickField
        path={`${path}/tools/remove`}
        label="Tools to take away"
        add="Take a tool away"
        values={given.tools?.remove ?? []}
        picks={own.map((tool) => ({ value: tool, label: tool }))}
        onChange={(values) => setTools('remove', values)}
      />
    </div>
  )
}

/** Shows the tasks of the ensemble with the inputs filled in. */
import { formatPlural } from '../../lib/format.ts'
import { Panel } from '../../ui/layout/panel.tsx'
import styles from './submit.module.css'
import { splitTemplate } from './variables.ts'

import type { EnsembleInfo } from '@tutti/protocol'

export function OutlineSection({
  ensemble,
  inputs,
}: {
  readonly ensemble: EnsembleInfo
  readonly inputs: Readonly<Record<string, string>>
}) {
  const { tasks } = ensemble
  return (
    <Panel title={formatPlural(tasks.length, 'task')} flush>
      <ol className={styles['outline']}>
        {tasks.map(({ name, description, tools }) => (
          <li key={name}>
            <h3>{name}</h3>
            <TemplateText text={description} inputs={inputs} />
            {tools.length > 0 && (
              <p className={styles['soft']}>
                Tools: <code>{tools.join(', ')}</code>
              </p>
            )}
          </li>
        ))}
      </ol>
    </Panel>
  )
}

export function TemplateText({
  text,
  inputs,
}: {
  readonly text: string
  readonly inputs: Readonly<Record<string, string>>
}) {
  return (
    <p className={styles['template']}>
      {splitTemplate(text).map((part, at) => {
        if (part.kind === 'text') return part.text
        const value = Object.hasOwn(inputs, part.name) ? inputs[part.name] : undefined
        const partKey = `${at}-${part.name}`
        if (value === undefined) return <var key={partKey}>{`{${part.name}}`}</var>
        return <mark key={partKey}>{value}</mark>
      })}
    </p>
  )
}

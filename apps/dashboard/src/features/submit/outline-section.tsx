/** The tasks of the ensemble as they are, with the inputs in their texts. */
import { plural } from '../../lib/format.ts'
import { Panel } from '../../ui/layout/panel.tsx'
import styles from './submit.module.css'
import { TemplateText } from './template-text.tsx'

import type { EnsembleInfo } from '@tutti/protocol'

/** The section. */
export function OutlineSection({
  ensemble,
  inputs,
}: {
  readonly ensemble: EnsembleInfo
  readonly inputs: Readonly<Record<string, string>>
}) {
  const { tasks } = ensemble
  return (
    <Panel title={plural(tasks.length, 'task')} flush>
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

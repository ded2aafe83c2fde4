/** The request as JSON, to be written by hand. */
import { Field } from '../../ui/controls/field.tsx'
import { TextArea } from '../../ui/controls/inputs.tsx'
import { Panel } from '../../ui/layout/panel.tsx'

import type { Problem } from '@tutti/protocol'

/** The editor. */
export function BodyAsJson({
  text,
  problems,
  onText,
}: {
  readonly text: string
  readonly problems: readonly Problem[]
  readonly onText: (text: string) => void
}) {
  const errors = problems.map(({ path, message }) =>
    path === '' ? `It ${message}` : `${path} ${message}`,
  )
  return (
    <Panel title="Request">
      <div data-pointer="">
        <Field label="Body as JSON" errors={errors}>
          {(control) => (
            <TextArea
              {...control}
              code
              rows={18}
              autoComplete="off"
              value={text}
              onChange={({ target }) => onText(target.value)}
            />
          )}
        </Field>
      </div>
    </Panel>
  )
}

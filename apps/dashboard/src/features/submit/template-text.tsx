/** A task's text with its variables: what stands for them when it is typed, their names until then. */
import styles from './submit.module.css'
import { templateParts } from './template.ts'

/** The text. */
export function TemplateText({
  text,
  inputs,
}: {
  readonly text: string
  readonly inputs: Readonly<Record<string, string>>
}) {
  return (
    <p className={styles['template']}>
      {templateParts(text).map((part, at) => {
        if (part.kind === 'text') return part.text
        const value = Object.hasOwn(inputs, part.name) ? inputs[part.name] : undefined
        const place = `${at}-${part.name}`
        if (value === undefined) return <var key={place}>{`{${part.name}}`}</var>
        return <mark key={place}>{value}</mark>
      })}
    </p>
  )
}

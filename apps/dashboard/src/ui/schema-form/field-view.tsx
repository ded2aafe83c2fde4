/** Renders one field of a form, including its nested fields. */
import { ArrowDown, ArrowUp, Plus, X } from 'lucide-react'

import { Button, IconButton } from '../controls/button.tsx'
import { Errors, Field } from '../controls/field.tsx'
import { Select } from '../controls/inputs.tsx'
import { applyLook } from './apply-look.ts'
import { useForm } from './form-context.ts'
import { createFieldAtPointer } from './form-model.ts'
import { Group } from './group.tsx'
import { createInitialValue, createItem } from './initial-value.ts'
import { JsonEditor } from './json-editor.tsx'
import { LeafField } from './leaf-field.tsx'
import { MapField } from './map-field.tsx'
import { PicksField } from './picks-field.tsx'
import { asList, asEntries } from './schema.ts'
import styles from './schema-form.module.css'

import type { FieldLook } from './field-look.ts'
import type { FormField } from './form-model.ts'

type FieldOf<Kind extends FormField['kind']> = Extract<FormField, { readonly kind: Kind }>

/** A field; a bare one does not show its name, because its surroundings do. */
export function FieldView({
  field,
  isBare = false,
}: {
  readonly field: FormField
  readonly isBare?: boolean
}) {
  switch (field.kind) {
    case 'text':
    case 'number':
    case 'boolean':
    case 'choice':
      return <LeafField field={field} />
    case 'constant':
      return <ConstantField field={field} />
    case 'object':
      return <ObjectField field={field} isBare={isBare} />
    case 'list':
      return <ListField field={field} isBare={isBare} />
    case 'union':
      return <UnionField field={field} />
    case 'map':
      return <MapField field={field} />
    case 'picks':
      return <PicksField field={field} />
    case 'json':
      return <JsonField field={field} />
  }
}

/** Renders the field at a pointer, with a presentation in addition to its schema. */
export function FieldAt({ path, ...look }: FieldLook & { readonly path: string }) {
  const { schema, value } = useForm()
  return <FieldView field={applyLook(createFieldAtPointer(schema, value, path), look)} />
}

/** A field with a constant value: it can only be set or removed. */
function ConstantField({ field }: { readonly field: FieldOf<'constant'> }) {
  const { errors: errorsAt, set, remove } = useForm()
  const { pointer, label, constant, isRequired, isItem, value } = field
  const errors = errorsAt(pointer)
  const isGiven = JSON.stringify(value) === JSON.stringify(constant)
  return (
    <div data-pointer={pointer} className={styles['fixed']}>
      <span className={styles['name']}>{label}</span>
      <code className={styles['constant']}>{JSON.stringify(constant)}</code>
      {!isGiven && (
        <Button size="s" aria-label={`Set ${label}`} onClick={() => set(pointer, constant)}>
          Set
        </Button>
      )}
      {isGiven && !isRequired && !isItem && (
        <IconButton label={`Remove ${label}`} icon={<X />} onClick={() => remove(pointer)} />
      )}
      <Errors errors={errors} />
    </div>
  )
}

function ObjectField({
  field,
  isBare,
}: {
  readonly field: FieldOf<'object'>
  readonly isBare: boolean
}) {
  const { schema } = useForm()
  const isEmpty = field.fields.length === 0 && asEntries(field.schema.properties).length === 0
  return (
    <Group
      field={field}
      isBare={isBare}
      initial={() => createInitialValue(field.schema, schema) ?? {}}
    >
      {isEmpty && <p className={styles['note']}>This object has no fields.</p>}
      {field.fields.map((inner) => (
        <FieldView key={inner.pointer} field={inner} />
      ))}
    </Group>
  )
}

function ListField({
  field,
  isBare,
}: {
  readonly field: FieldOf<'list'>
  readonly isBare: boolean
}) {
  const { schema, set, remove } = useForm()
  const { pointer, label, items } = field
  const values = items.map(({ value }) => value)
  const move = (from: number, to: number): void => {
    const moved = values[from]
    set(pointer, values.toSpliced(from, 1).toSpliced(to, 0, moved))
  }
  return (
    <Group
      field={field}
      isBare={isBare}
      initial={() => createInitialValue(field.schema, schema) ?? []}
    >
      {items.map((item, at) => (
        <div key={item.pointer} className={styles['item']}>
          <FieldView field={item} />
          <div className={styles['moves']}>
            <IconButton
              label={`Move ${item.label} up`}
              icon={<ArrowUp />}
              disabled={at === 0}
              onClick={() => move(at, at - 1)}
            />
            <IconButton
              label={`Move ${item.label} down`}
              icon={<ArrowDown />}
              disabled={at === items.length - 1}
              onClick={() => move(at, at + 1)}
            />
            <IconButton
              label={`Remove ${item.label}`}
              icon={<X />}
              onClick={() => remove(item.pointer)}
            />
          </div>
        </div>
      ))}
      <div>
        <Button
          size="s"
          icon={<Plus />}
          disabled={!field.mayGrow}
          aria-label={`Add to ${label}`}
          onClick={() => set(pointer, [...values, createItem(field.schema.items ?? {}, schema)])}
        >
          Add
        </Button>
      </div>
    </Group>
  )
}

function UnionField({ field }: { readonly field: FieldOf<'union'> }) {
  const { schema, choose } = useForm()
  const variants = asList(field.schema.anyOf ?? field.schema.oneOf)
  const initial = (at: number): unknown => createItem(variants[at], schema)
  return (
    <Group
      field={field}
      isOuter={field.isGiven || field.isRequired}
      initial={() => initial(field.chosen)}
      actions={
        <Select
          className={styles['variant']}
          aria-label={`Kind of ${field.label}`}
          value={field.chosen}
          onChange={({ target }) =>
            choose(field.pointer, Number(target.value), initial(Number(target.value)))
          }
        >
          {field.variants.map((name, at) => (
            <option key={name} value={at}>
              {name}
            </option>
          ))}
        </Select>
      }
    >
      <FieldView field={field.field} isBare />
    </Group>
  )
}

function JsonField({ field }: { readonly field: FieldOf<'json'> }) {
  const { errors, broken, setJson, remove } = useForm()
  const { pointer, label, isRequired, isItem, value } = field
  const note = [field.description, `${field.why}; enter JSON`].filter(Boolean).join(' · ')
  return (
    <div data-pointer={pointer}>
      <Field label={label} required={isRequired && !isItem} hint={note} errors={errors(pointer)}>
        {(control) => (
          <JsonEditor
            control={control}
            value={value}
            text={broken[pointer]?.text}
            rows={2}
            onText={(text) =>
              text.trim() === '' && !isRequired ? remove(pointer) : setJson(pointer, text)
            }
          />
        )}
      </Field>
    </div>
  )
}

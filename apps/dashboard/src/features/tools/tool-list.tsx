/** The tools of the server, to choose from. */
import { useDeferredValue, useState } from 'react'

import { toolsHref } from '../../api/links.ts'
import { plural } from '../../lib/format.ts'
import { TextInput } from '../../ui/controls/inputs.tsx'
import styles from './tools.module.css'

import type { ToolInfo } from '@tutti/protocol'

/** The list; `chosen` is the name of one of them. */
export function ToolList({
  tools,
  chosen,
}: {
  readonly tools: readonly ToolInfo[]
  readonly chosen: string | undefined
}) {
  const [search, setSearch] = useState('')
  const wanted = useDeferredValue(search).trim().toLowerCase()
  const found = tools.filter(({ name, description }) =>
    `${name} ${description}`.toLowerCase().includes(wanted),
  )
  return (
    <>
      <div className={styles['search']}>
        <TextInput
          type="search"
          aria-label="Search the tools"
          placeholder={`Search ${plural(tools.length, 'tool')}`}
          value={search}
          onChange={({ target }) => setSearch(target.value)}
        />
      </div>
      <p role="status" className={styles['none']}>
        {found.length === 0 && `No tool has "${search}" in its name or description`}
      </p>
      <ul className={styles['list']} aria-label="Tools">
        {found.map(({ name, description }) => (
          <li key={name}>
            <a href={toolsHref(name)} aria-current={name === chosen ? 'page' : undefined}>
              <span>{name}</span>
              <span className={styles['soft']}>{description}</span>
            </a>
          </li>
        ))}
      </ul>
    </>
  )
}

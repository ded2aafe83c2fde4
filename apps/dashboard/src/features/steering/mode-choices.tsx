/** Selects one mode of an action. */
import styles from './steer-dialog.module.css'

/** A mode and its effect. */
export interface ModeChoice<Mode> {
  readonly mode: Mode
  readonly name: string
  readonly does: string
}

/** One radio button per mode; the chosen one gets the focus of the dialog. */
export function ModeChoices<Mode extends string>({
  label,
  modes,
  chosen,
  onChoose,
}: {
  readonly label: string
  readonly modes: readonly ModeChoice<Mode>[]
  readonly chosen: Mode
  readonly onChoose: (mode: Mode) => void
}) {
  return (
    <fieldset className={styles['choices']} aria-label={label}>
      {modes.map(({ mode, name, does }) => (
        <label key={mode} className={styles['choice']}>
          <input
            type="radio"
            name="mode"
            value={mode}
            data-autofocus={mode === chosen ? true : undefined}
            checked={mode === chosen}
            onChange={() => onChoose(mode)}
          />
          <strong>{name}</strong>
          <span>{does}</span>
        </label>
      ))}
    </fieldset>
  )
}

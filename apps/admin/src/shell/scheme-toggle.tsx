import { Menu, type MantineColorScheme, useComputedColorScheme, useMantineColorScheme } from '@mantine/core';
import { IconCheck, IconDeviceDesktop, IconMoon, IconSun } from '@tabler/icons-react';
import { Glyph } from '../ui/icon.tsx';

const SCHEMES: ReadonlyArray<{ value: MantineColorScheme; name: string; icon: typeof IconSun }> = [
  { value: 'auto', name: 'System', icon: IconDeviceDesktop },
  { value: 'light', name: 'Light', icon: IconSun },
  { value: 'dark', name: 'Dark', icon: IconMoon },
];

export function SchemeToggle() {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const computed = useComputedColorScheme('light');
  const name = SCHEMES.find((scheme) => scheme.value === colorScheme)?.name ?? 'System';
  return (
    <Menu position="bottom-end" width={160}>
      <Menu.Target>
        <button type="button" className="icon-button" aria-label={`Colour scheme: ${name}`}>
          <Glyph icon={computed === 'dark' ? IconMoon : IconSun} />
        </button>
      </Menu.Target>
      <Menu.Dropdown>
        {SCHEMES.map((scheme) => (
          <Menu.Item
            key={scheme.value}
            leftSection={<Glyph icon={scheme.icon} />}
            rightSection={colorScheme === scheme.value ? <Glyph icon={IconCheck} /> : null}
            onClick={() => setColorScheme(scheme.value)}
          >
            {scheme.name}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}

import { ActionIcon, Button, createTheme, InputWrapper, SegmentedControl, Select, Tooltip } from '@mantine/core';
import { IconChevronDown } from '@tabler/icons-react';
import { createElement } from 'react';

/** Mantine's theme: sizes, fonts and defaults. Colours come from the tokens (`tokens.css`, mapped in `styles/mantine.css`). */
export const theme = createTheme({
  primaryColor: 'iris',
  primaryShade: { light: 7, dark: 6 },
  colors: {
    iris: [
      '#eff3ff',
      '#dee5fe',
      '#cad6ff',
      '#b4c5ff',
      '#94aaff',
      '#6f86f2',
      '#5165e2',
      '#404dd8',
      '#333bbe',
      '#2a319c',
    ],
  },
  fontFamily: "'Geist Variable', system-ui, sans-serif",
  fontFamilyMonospace: "'Geist Mono Variable', ui-monospace, monospace",
  fontSizes: { xs: '11px', sm: '12px', md: '13px', lg: '14px', xl: '16px' },
  lineHeights: { xs: '16px', sm: '16px', md: '20px', lg: '20px', xl: '24px' },
  spacing: { xs: '4px', sm: '8px', md: '12px', lg: '16px', xl: '24px' },
  radius: { xs: '3px', sm: '5px', md: '6px', lg: '8px', xl: '12px' },
  defaultRadius: 'md',
  cursorType: 'pointer',
  focusRing: 'auto',
  respectReducedMotion: true,
  headings: {
    fontWeight: '600',
    sizes: { h1: { fontSize: '20px', lineHeight: '28px' }, h2: { fontSize: '13px', lineHeight: '20px' } },
  },
  components: {
    Button: Button.extend({ defaultProps: { size: 'sm', variant: 'default' } }),
    ActionIcon: ActionIcon.extend({ defaultProps: { size: 28, variant: 'subtle', color: 'gray' } }),
    InputWrapper: InputWrapper.extend({
      defaultProps: { inputWrapperOrder: ['label', 'input', 'description', 'error'] },
    }),
    Tooltip: Tooltip.extend({ defaultProps: { openDelay: 300, withArrow: false } }),
    SegmentedControl: SegmentedControl.extend({ defaultProps: { size: 'xs' } }),
    Select: Select.extend({
      defaultProps: {
        size: 'sm',
        rightSection: createElement(IconChevronDown, { size: 14, stroke: 1.75, 'aria-hidden': true }),
      },
    }),
  },
});

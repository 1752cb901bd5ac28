import { Button, JsonInput, Modal } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { type ApiError, execute } from '../../api/client.ts';
import { Banner } from '../../ui/banner.tsx';
import { showToast } from '../../ui/toast.tsx';
import { type ExecutionDetail, ResumeDocument } from './execution-queries.ts';
import { readJson } from './json-input.ts';

/** Lets a paused execution go on with an input. An empty text is no input. */
export function ResumeDialog({ execution, onClose }: { execution: ExecutionDetail; onClose: () => void }) {
  const client = useQueryClient();
  const [text, setText] = useState('');
  const input = readJson(text);
  const resume = useMutation<unknown, ApiError>({
    mutationFn: () =>
      execute(ResumeDocument, {
        input: { id: execution.id, ...(input.ok && input.value !== undefined && { input: input.value }) },
      }),
    onSuccess: () => {
      void client.invalidateQueries({ queryKey: ['execution', execution.id] });
      showToast({ message: 'Resumed' });
      onClose();
    },
  });
  const name = execution.waitingFor?.name;
  return (
    <Modal
      opened
      onClose={onClose}
      title={name ? `Resume “${name}”` : 'Resume'}
      size="lg"
      centered
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <form
        className="form"
        onSubmit={(event) => {
          event.preventDefault();
          if (input.ok) resume.mutate();
        }}
      >
        {resume.error && (
          <Banner tone="bad" title="Not resumed">
            {resume.error.message} <span className="mute">{resume.error.code}</span>
          </Banner>
        )}
        <JsonInput
          label="Input"
          description="JSON. The handler goes on with it as the result of its pause; empty: with null."
          data-autofocus
          value={text}
          onChange={setText}
          autosize
          minRows={4}
          maxRows={16}
          formatOnBlur
          spellCheck={false}
          error={input.ok ? null : input.problem}
          styles={{ input: { fontFamily: 'var(--mono)', fontSize: 12 } }}
        />
        <div className="dialog-actions">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" variant="filled" disabled={!input.ok} loading={resume.isPending}>
            Resume
          </Button>
        </div>
      </form>
    </Modal>
  );
}

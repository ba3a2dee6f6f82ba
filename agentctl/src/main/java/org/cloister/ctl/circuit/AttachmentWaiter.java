package org.cloister.ctl.circuit;

import org.cloister.transport.link.AgentAttachStream;

/** Waits for the first attachment to a relay. */
final class AttachmentWaiter extends LinkEventWaiter<AgentAttachStream> {
    AttachmentWaiter() {
        super("relay");
    }

    @Override
    public void onAttached(AgentAttachStream attachment) {
        complete(attachment);
    }
}

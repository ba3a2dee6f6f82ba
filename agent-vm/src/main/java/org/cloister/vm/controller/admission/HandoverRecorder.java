package org.cloister.vm.controller.admission;

import com.google.protobuf.ByteString;
import java.io.IOException;
import org.cloister.protocol.handover.HandoverDocument;
import org.cloister.protocol.handover.HandoverTarget;

/** Keeps what workers are given and say of their lives, for receipts. Calls may block. */
public interface HandoverRecorder {
    /**
     * Before the worker has it.
     *
     * @param evidence an envelope, accepted and spent
     */
    void recordHandover(HandoverTarget place, ByteString evidence, HandoverDocument given) throws IOException;

    /** @param part a worker's, unread */
    void recordWorkerStatement(String ticket, int slot, ByteString part) throws IOException;
}

package org.cloister.vm.controller.admission;

import com.google.protobuf.ByteString;
import java.io.IOException;
import org.cloister.protocol.handover.HandoverDocument;
import org.cloister.protocol.handover.HandoverTarget;

/** Records hand-overs and workers' final statements for receipts. Calls may block. */
public interface HandoverRecorder {
    /**
     * Records a hand-over before it is sent to the worker.
     *
     * @param evidence envelope of the accepted evidence, for which the slot is spent
     */
    void recordHandover(HandoverTarget target, ByteString evidence, HandoverDocument handover) throws IOException;

    /**
     * Records a worker's final statement.
     *
     * @param statement as the worker sent it, not parsed
     */
    void recordWorkerStatement(String ticket, int slot, ByteString statement) throws IOException;
}

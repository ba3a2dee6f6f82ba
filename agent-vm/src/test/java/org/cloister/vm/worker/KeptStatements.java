package org.cloister.vm.worker;

import com.google.protobuf.ByteString;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.cloister.protocol.handover.HandoverDocument;
import org.cloister.protocol.handover.HandoverTarget;
import org.cloister.vm.controller.admission.HandoverRecorder;

/** Keeps the workers' parts. */
final class KeptStatements implements HandoverRecorder {
    final List<ByteString> parts = new CopyOnWriteArrayList<>();

    @Override
    public void recordHandover(HandoverTarget place, ByteString evidence, HandoverDocument handover) {
        // The test looks at what comes back alone.
    }

    @Override
    public void recordWorkerStatement(String ticket, int slot, ByteString part) {
        parts.add(part);
    }
}

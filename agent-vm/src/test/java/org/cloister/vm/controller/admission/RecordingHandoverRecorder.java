package org.cloister.vm.controller.admission;

import com.google.protobuf.ByteString;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.cloister.protocol.handover.HandoverDocument;

/** Recorder that keeps in memory what receipts need. */
final class RecordingHandoverRecorder implements HandoverRecorder {
    final List<String> recorded = new CopyOnWriteArrayList<>();
    volatile boolean fails;

    @Override
    public void recordHandover(
            org.cloister.protocol.handover.HandoverTarget place, ByteString evidence, HandoverDocument document)
            throws IOException {
        if (fails) {
            throw new IOException("test");
        }
        recorded.add("gave " + place.slot() + " " + document.certificates().size());
    }

    @Override
    public void recordWorkerStatement(String ticket, int slot, ByteString part) {
        recorded.add("ended " + slot + " " + (part.isEmpty() ? "nothing" : "part"));
    }
}

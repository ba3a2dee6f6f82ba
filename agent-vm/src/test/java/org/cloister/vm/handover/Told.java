package org.cloister.vm.handover;

import com.google.protobuf.ByteString;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.cloister.protocol.handover.HandOver;

/** What is for receipts. */
final class Told implements Lives {
    final List<String> said = new CopyOnWriteArrayList<>();
    volatile boolean fails;

    @Override
    public void gave(org.cloister.protocol.handover.Place place, ByteString evidence, HandOver given)
            throws IOException {
        if (fails) {
            throw new IOException("test");
        }
        said.add("gave " + place.slot() + " " + given.certificates().size());
    }

    @Override
    public void ended(String ticket, int slot, ByteString part) {
        said.add("ended " + slot + " " + (part.isEmpty() ? "nothing" : "part"));
    }
}

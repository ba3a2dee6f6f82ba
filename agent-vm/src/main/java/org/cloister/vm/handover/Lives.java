package org.cloister.vm.handover;

import com.google.protobuf.ByteString;
import java.io.IOException;
import org.cloister.protocol.handover.HandOver;
import org.cloister.protocol.handover.Place;

/** Keeps what workers are given and say of their lives, for receipts. Calls may block. */
public interface Lives {
    /**
     * Before the worker has it.
     *
     * @param evidence an envelope, accepted and spent
     */
    void gave(Place place, ByteString evidence, HandOver given) throws IOException;

    /** @param part a worker's, unread */
    void ended(String ticket, int slot, ByteString part) throws IOException;
}

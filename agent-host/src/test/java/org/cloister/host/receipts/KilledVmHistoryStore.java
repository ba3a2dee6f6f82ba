package org.cloister.host.receipts;

import java.io.IOException;
import java.util.List;

/** A folder of lives whose process is killed before or after one of its writes. */
final class KilledVmHistoryStore implements HostStatements.VmHistoryStore {
    private final HostStatements.VmHistoryStore histories;
    private int left;

    /** The process ends here. */
    static final class SimulatedKill extends RuntimeException {
        private static final long serialVersionUID = 1;
    }

    /** @param point counted from 1, two for each write; 0 for none */
    KilledVmHistoryStore(HostStatements.VmHistoryStore histories, int point) {
        this.histories = histories;
        this.left = point;
    }

    private void point() {
        left--;
        if (left == 0) {
            throw new SimulatedKill();
        }
    }

    /** Points that were passed. */
    int passed() {
        return -left;
    }

    @Override
    public List<VmHistory> all() throws IOException {
        return histories.all();
    }

    @Override
    public void put(VmHistory history) throws IOException {
        point();
        histories.put(history);
        point();
    }

    @Override
    public void drop(VmHistory history) throws IOException {
        point();
        histories.drop(history);
        point();
    }
}

package org.cloister.host.receipts;

import java.io.IOException;
import java.util.List;

/** A folder of lives whose process is killed before or after one of its writes. */
final class KilledVmHistoryStore implements VmHistoryStore {
    private final VmHistoryStore lives;
    private int left;

    /** The process ends here. */
    static final class SimulatedKill extends RuntimeException {
        private static final long serialVersionUID = 1;
    }

    /** @param point counted from 1, two for each write; 0 for none */
    KilledVmHistoryStore(VmHistoryStore lives, int point) {
        this.lives = lives;
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
        return lives.all();
    }

    @Override
    public void put(VmHistory life) throws IOException {
        point();
        lives.put(life);
        point();
    }

    @Override
    public void drop(VmHistory life) throws IOException {
        point();
        lives.drop(life);
        point();
    }
}

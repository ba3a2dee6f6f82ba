package org.cloister.vm.controller.admission;

import java.io.IOException;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.cloister.vm.controller.provision.WorkerAccess;

/** Access that records in order which workers were admitted. */
final class RecordingWorkerAccess implements WorkerAccess {
    final List<String> recorded = new CopyOnWriteArrayList<>();
    /** Number of workers in each call that granted access. */
    final List<Integer> calls = new CopyOnWriteArrayList<>();

    volatile boolean fails;
    /** A worker whose access cannot be granted. */
    volatile String failsFor = "";

    @Override
    public void grant(Collection<Grant> grants) throws IOException {
        fail();
        if (grants.stream().anyMatch(grant -> grant.worker().name().equals(failsFor))) {
            throw new IOException("test of " + failsFor);
        }
        calls.add(grants.size());
        for (Grant grant : grants) {
            recorded.add("admit " + grant.worker().name() + " at "
                    + grant.worker().address() + " as " + grant.export().uid());
        }
    }

    @Override
    public void revoke(Collection<Grant> grants) throws IOException {
        fail();
        grants.forEach(grant -> recorded.add("dismiss " + grant.worker().name()));
    }

    private void fail() throws IOException {
        if (fails) {
            throw new IOException("test");
        }
    }
}

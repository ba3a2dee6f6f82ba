package org.cloister.vm.controller.admission;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.cloister.vm.controller.provision.WorkerAccess;
import org.cloister.vm.controller.storage.NfsExport;
import org.cloister.vm.system.tunnel.TunnelPeer;

/** Access that records in order which workers were admitted. */
final class RecordingWorkerAccess implements WorkerAccess {
    final List<String> recorded = new CopyOnWriteArrayList<>();
    volatile boolean fails;

    @Override
    public void grant(TunnelPeer machine, NfsExport export) throws IOException {
        fail();
        recorded.add("admit " + machine.name() + " at " + machine.address() + " as " + export.uid());
    }

    @Override
    public void revoke(TunnelPeer machine, NfsExport export) throws IOException {
        fail();
        recorded.add("dismiss " + machine.name());
    }

    private void fail() throws IOException {
        if (fails) {
            throw new IOException("test");
        }
    }
}

package org.cloister.vm.handover;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.cloister.vm.provision.Access;
import org.cloister.vm.storage.Export;
import org.cloister.vm.tunnel.Machine;

/** Who was let in, in order. */
final class Recorded implements Access {
    final List<String> said = new CopyOnWriteArrayList<>();
    volatile boolean fails;

    @Override
    public void admit(Machine machine, Export export) throws IOException {
        fail();
        said.add("admit " + machine.name() + " at " + machine.address() + " as " + export.uid());
    }

    @Override
    public void dismiss(Machine machine, Export export) throws IOException {
        fail();
        said.add("dismiss " + machine.name());
    }

    private void fail() throws IOException {
        if (fails) {
            throw new IOException("test");
        }
    }
}

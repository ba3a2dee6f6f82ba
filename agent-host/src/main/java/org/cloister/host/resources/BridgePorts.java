package org.cloister.host.resources;

import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.cloister.base.encoding.MalformedException;
import org.cloister.host.reconcile.HostResource;
import org.cloister.host.reconcile.ResourceKind;
import org.cloister.host.vm.ResourceOwner;
import org.cloister.ovs.PortPlan;
import org.cloister.ovs.SecureBridge;

/**
 * Ports of VMs on the bridge. Once per start it gives the bridge its desired state: every port that was found, with the
 * plan in its VM's folder or else its own row. This removes no port; ports that must go are removed later, by their
 * owner. Any thread may call.
 */
public final class BridgePorts {
    private final SecureBridge bridge;
    private final VmFolders folders;
    private boolean adopted;

    public BridgePorts(SecureBridge bridge, VmFolders folders) {
        this.bridge = bridge;
        this.folders = folders;
    }

    /** Sets the desired state, which the bridge enforces from then on; later calls have no effect. */
    public synchronized void adoptFoundPorts() throws IOException {
        if (adopted) {
            return;
        }
        List<PortPlan> plans = new ArrayList<>();
        for (PortPlan each : bridge.found()) {
            plans.add(planned(each).orElse(each));
        }
        bridge.replace(plans);
        adopted = true;
    }

    private Optional<PortPlan> planned(PortPlan found) throws IOException {
        Optional<ResourceOwner> owner = PortOwnerLabels.read(found);
        if (owner.isEmpty()) {
            return Optional.empty();
        }
        try {
            return Optional.of(folders.plan(owner.get()).port())
                    .filter(plan -> plan.device().equals(found.device()));
        } catch (NoSuchFileException | MalformedException e) {
            // A port whose VM has no plan any longer is about to be removed.
            return Optional.empty();
        }
    }

    Set<HostResource> listResources() throws IOException {
        Set<HostResource> resources = new HashSet<>();
        for (PortPlan each : bridge.found()) {
            resources.add(new HostResource(ResourceKind.PORT, each.device(), PortOwnerLabels.read(each), true));
        }
        return resources;
    }

    boolean isFree(ResourceOwner owner) throws IOException {
        return find(owner).isEmpty();
    }

    /** Adds the VM's port; frames pass when this returns. */
    void add(VmPlan plan) throws IOException {
        adoptFoundPorts();
        bridge.add(List.of(plan.port()));
    }

    /** Adds the port again, from the plan in the VM's folder. */
    void restore(ResourceOwner owner) throws IOException {
        add(folders.plan(owner));
    }

    /** Removes the port; no error if it is gone. */
    void remove(ResourceOwner owner) throws IOException {
        adoptFoundPorts();
        Optional<PortPlan> found = find(owner);
        if (found.isPresent() && !PortOwnerLabels.read(found.get()).equals(Optional.of(owner))) {
            throw new IOException("port " + found.get().device() + " belongs to "
                    + found.get().owner() + " and not to VM " + owner.uuid() + "; it was not changed");
        }
        bridge.remove(List.of(owner.names().tap()));
    }

    /** Returns the flow entries of this VM's port, for people. */
    public List<String> flows(ResourceOwner owner) throws IOException {
        return bridge.flows(owner.names().tap());
    }

    private Optional<PortPlan> find(ResourceOwner owner) throws IOException {
        return bridge.found().stream()
                .filter(each -> each.device().equals(owner.names().tap()))
                .findFirst();
    }
}

package org.cloister.host.reconcile;

import java.util.Optional;
import org.cloister.host.vm.ResourceOwner;

/**
 * Something on this host that is named or marked as ours.
 *
 * @param owner as it is marked itself; empty if it is not, or not readably
 * @param running false of a domain whose CPUs stand still; true of all else
 */
public record HostResource(ResourceKind kind, String name, Optional<ResourceOwner> owner, boolean running) {}

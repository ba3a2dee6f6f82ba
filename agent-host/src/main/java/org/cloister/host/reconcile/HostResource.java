package org.cloister.host.reconcile;

import java.util.Optional;
import org.cloister.host.vm.ResourceOwner;

/**
 * Resource on this host that is named or marked as Cloister's.
 *
 * @param owner from its mark; empty if it has none, or an unreadable one
 * @param running false for a domain whose CPUs are paused, true for any other resource
 */
public record HostResource(ResourceKind kind, String name, Optional<ResourceOwner> owner, boolean running) {}

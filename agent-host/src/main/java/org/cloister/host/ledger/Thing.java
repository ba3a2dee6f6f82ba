package org.cloister.host.ledger;

import java.util.Optional;
import org.cloister.host.vm.VmOwner;

/**
 * Something on this host that is named or marked as ours.
 *
 * @param owner as it is marked itself; empty if it is not, or not readably
 * @param runs false of a domain whose CPUs stand still; true of all else
 */
public record Thing(Part part, String name, Optional<VmOwner> owner, boolean runs) {}

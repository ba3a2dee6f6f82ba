/** What drives the ledger's rounds without libvirt and Open vSwitch: a host in memory, which can be killed at any point. */
@NullMarked
package org.cloister.host.reconcile;

import org.jspecify.annotations.NullMarked;

package org.cloister.vm.boot;

import org.cloister.transport.link.AgentLinkListener;

/**
 * Creates the listener that receives the VM's assignment and starts its role: a worker's, or that of a project's
 * controlling VM.
 */
@FunctionalInterface
public interface ChannelListenerFactory {
    /**
     * Creates the listener of the channel; called once per boot, before the channel is opened.
     *
     * @param keys of this boot
     * @param trustStore trusts nobody yet: a VM trusts the people and machines that its project names, once it is
     *     assigned one
     * @return receives the channel's events, on its event loop
     */
    AgentLinkListener create(BootKeyPairs keys, VmTrustStore trustStore);
}

package org.cloister.vm.boot;

import org.cloister.transport.link.AgentLinkListener;

/** Where a VM learns what it is for, and begins it: a worker, or a project's controlling VM. */
@FunctionalInterface
public interface ChannelListenerFactory {
    /**
     * Once a boot, before the channel is opened.
     *
     * @param keys of this boot
     * @param believed nobody yet: a VM knows nobody until it was told of a project, and believes whom that names
     * @return hears of the channel, on its loop
     */
    AgentLinkListener create(BootKeyPairs keys, VmTrustStore believed);
}

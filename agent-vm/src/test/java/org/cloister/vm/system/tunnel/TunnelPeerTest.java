package org.cloister.vm.system.tunnel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import java.nio.ByteBuffer;
import java.util.List;
import org.cloister.base.address.Ipv4Address;
import org.cloister.ipsec.PinnedPeer;
import org.cloister.ipsec.TunnelIdentity;
import org.cloister.luks.secret.SecretAllocator;
import org.cloister.luks.secret.SecretMemory;
import org.junit.jupiter.api.Test;

class TunnelPeerTest {
    private static final TunnelPeer CONTROLLER =
            new TunnelPeer("c", TunnelIdentity.controller("c", "a"), new Ipv4Address("10.70.0.1"));
    private static final TunnelPeer W1 =
            new TunnelPeer("w1", TunnelIdentity.worker("w1", "a"), new Ipv4Address("10.70.0.2"));
    private static final TunnelPeer W2 =
            new TunnelPeer("w2", TunnelIdentity.worker("w2", "a"), new Ipv4Address("10.70.0.3"));

    @Test
    void one_end_of_each_tunnel_makes_it() {
        assertThat(TunnelPeer.peersOfWorker(CONTROLLER, List.of(W2)))
                .extracting(PinnedPeer::name, PinnedPeer::start)
                .containsExactly(tuple("c", PinnedPeer.Start.INITIATE), tuple("w2", PinnedPeer.Start.ON_DEMAND));
        assertThat(TunnelPeer.peersOfController(List.of(W1, W2)))
                .extracting(PinnedPeer::start)
                .containsExactly(PinnedPeer.Start.WAIT, PinnedPeer.Start.WAIT);
    }

    @Test
    void a_locked_key_is_written_whole_and_to_native_memory_alone() throws Exception {
        SecretAllocator secrets = SecretAllocator.open(SecretAllocator.Locking.RUN_WITHOUT_LOCKED_MEMORY);
        try (SecretMemory key = secrets.random(185)) {
            LockedPrivateKey locked = new LockedPrivateKey(key);
            ByteBuffer room = ByteBuffer.allocateDirect(200).position(7);
            locked.writeTo(room);
            assertThat(room.position()).isEqualTo(7 + locked.length());
            try (SecretMemory.Loan loan = key.lend()) {
                for (int i = 0; i < loan.length(); i++) {
                    assertThat(room.get(7 + i)).isEqualTo(loan.pointer().getByte(i));
                }
            }
            assertThat(room.get(6)).isZero();
            assertThatThrownBy(() -> locked.writeTo(ByteBuffer.allocate(200))).hasMessageStartingWith("private key: ");
            assertThatThrownBy(() -> locked.writeTo(ByteBuffer.allocateDirect(184)))
                    .hasMessageStartingWith("private key: ");
        }
    }
}

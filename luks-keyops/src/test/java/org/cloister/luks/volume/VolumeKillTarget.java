package org.cloister.luks.volume;

import java.io.IOException;
import java.nio.file.Path;
import org.cloister.luks.secret.SecretAllocator;
import org.cloister.luks.secret.SecretMemory;

/** A process of its own that changes a volume over and over, until {@link VolumeKillTest} kills it. */
final class VolumeKillTarget {
    private VolumeKillTarget() {}

    /** @param args what to do, the volume, its slot's key, another key */
    public static void main(String[] args) throws IOException {
        SecretAllocator secrets = SecretAllocator.open(SecretAllocator.Locking.REQUIRED);
        Cryptsetup cryptsetup = Cryptsetup.load();
        Path file = Path.of(args[1]);
        try (SecretMemory key = secrets.readFile(Path.of(args[2]), 64);
                SecretMemory other = secrets.readFile(Path.of(args[3]), 64)) {
            System.out.println("ready");
            while (true) {
                if (args[0].equals("remake")) {
                    remake(secrets, cryptsetup, file, key);
                } else {
                    change(cryptsetup, file, key, other);
                }
            }
        }
    }

    private static void remake(SecretAllocator secrets, Cryptsetup cryptsetup, Path file, SecretMemory key)
            throws IOException {
        cryptsetup.erase(file, DeviceErasure.Scope.HEADER);
        try (SecretMemory volumeKey = secrets.random(64);
                LuksVolume volume = cryptsetup.create(file, VolumeFormat.labelled("killed"), volumeKey)) {
            volume.addSlot(VolumeKey.ofVolume(volumeKey), key, KeySlotDerivation.RANDOM_KEY);
        }
    }

    private static void change(Cryptsetup cryptsetup, Path file, SecretMemory key, SecretMemory other)
            throws IOException {
        try (LuksVolume volume = cryptsetup.open(file)) {
            long epoch = volume.tokens().epoch().orElse(0) + 1;
            volume.tokens().raiseEpoch(epoch);
            System.out.println("epoch " + epoch);
            volume.removeSlot(volume.addSlot(VolumeKey.ofSlot(key), other, KeySlotDerivation.RANDOM_KEY));
        }
    }
}

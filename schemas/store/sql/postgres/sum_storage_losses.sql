SELECT sum_storage_losses()
